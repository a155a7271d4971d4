"""Where the truck is on its way: docked, departing, on the road, arriving, offloading."""
