"""EPCIS 2.0: the ledger's records as events that other companies' systems read.

`ids`: names as GS1 Digital Links and URIs. `eventhash`: the id of an event, from what it says.
`goods`: events of deliveries, handovers, transformations and lots. `journeys`: events of trips.
`gathering`: all events about a trip or a lot. `query`: which events are asked for, page by page.
`document`: the documents around them.
"""
