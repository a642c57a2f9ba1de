"""The Boswell Test in numbers: quotients, grades received and given, bias, and how sure one may be of them."""
