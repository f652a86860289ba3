"""What trains: configurations, recipes, and a module for each kind of training."""
