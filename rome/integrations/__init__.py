"""Use RoMe from data frames, Hugging Face, torchmetrics, scikit-learn, Ray and Spark. Each package is loaded only when needed."""
