"""What tests of several kinds share: a real server, a proxy that loses replies, patience without sleeping."""
