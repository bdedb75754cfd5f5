"""Score many pairs: in blocks, by a pool of workers, with the finished blocks kept on disk."""
