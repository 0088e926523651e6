"""Terms of many-sorted first-order logic, without any solver: building, simplifying, writing and reading them."""
