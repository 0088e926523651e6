"""What is kept between runs: records in a file (`database`), where that is (`store_location`), values as bytes (`packing`)."""
