"""Development of the opponents: matches between two engines, and what they prove."""
