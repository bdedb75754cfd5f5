"""Where people already are: data frames, Hugging Face, torchmetrics, scikit-learn, Ray and Spark. Each is loaded only when asked for."""
