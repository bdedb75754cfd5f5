"""How are many scored? In blocks, by a pool of workers, with what is finished kept on disk; Ray and Spark on top of that."""
