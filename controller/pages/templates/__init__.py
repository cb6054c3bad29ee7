"""What a page is made of; a package so that it is installed with the code."""
