"""What attention costs: counted from one run's tensors, and measured against length."""
