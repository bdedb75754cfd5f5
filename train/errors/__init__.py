"""The recipe of the reader of both texts."""
