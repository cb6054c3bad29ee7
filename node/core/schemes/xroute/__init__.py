"""XROUTE (Chand, Felber 2003): filters are represented and substituted by wider ones, and counted so that they can go.

`interface` is T^k, what one neighbour told; `paper` and `canonical` are two ways to aggregate the interfaces into what
the next broker towards a producer is told; `scheme` runs them on brokers with several producers.
"""
