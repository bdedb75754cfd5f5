"""The page of `rome report`: one HTML file that holds a leaderboard, distributions and every segment with its explanation."""
