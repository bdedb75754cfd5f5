"""The recipe of the net that makes four features one score."""
