"""What is kept between runs: records in a file (`database`), where that is (`location`), values as bytes (`packing`)."""
