"""Functions that say what they implement, as the operators that do it."""
