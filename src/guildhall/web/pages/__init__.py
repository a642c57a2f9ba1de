"""The pages, a module for each kind of visitor: parse, call one function, show."""
