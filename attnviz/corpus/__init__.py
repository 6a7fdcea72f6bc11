"""Many texts: what each head does, and what its removal does, as means with their errors."""
