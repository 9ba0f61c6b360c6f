"""Temperature scaling, and sums over the classes at one temperature."""
