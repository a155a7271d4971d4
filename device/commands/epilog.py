"""What `wayseal-device --help` says after the commands: settings, examples, exit codes."""

from typing import Final

from device.settings_file import CONFIG_VARIABLE, USUAL

EPILOG: Final = f"""\
settings:
  One TOML file: --config FILE, else ${CONFIG_VARIABLE}, else {USUAL}.
  Environment variables win over it (WAYSEAL_GATEWAY__MQTT, ...); with WAYSEAL_DEVICE_ID
  and neither of the first two, the variables alone count.

  device_id = "truck-7"
  data = "/var/lib/wayseal"
  [trip]
  origin_site = "site-a"
  destination_site = "site-b"
  deliveries = ["order-12"]
  via_sites = ["site-c"]                 sites on the way
  other_devices = ["truck-7-rear"]       devices that may join this trip
  limited = ["temperature"]              what the deliveries limit, so the source must give it
  [gateway]
  mqtt = "gateway.local:1883"
  rest = "http://gateway.local:8080"
  token = "..."
  public_keys = ["02..."]                gateways whose receipts count
  genesis_block_id = "..."               the ledger they must name, or nothing is deleted
  admin_keys = ["02..."]                 if one of these signs a successor of that ledger, it counts
  receipt_requires = ["volume", "blobs"] copies that must exist before this device deletes
  timeout_s = 30
  [[gateways]]                           instead of [gateway], a table for each site
  site_id = "site-b"                     the site; a gateway that says another one is refused
  mqtt = "..."                           and all that [gateway] has; without token this device's
                                         key gives one, see `enrol`
  [batch]
  max_readings = 100
  max_seconds = 60
  readings_per_transaction = 1           2 to 300: that many readings are signed as one run
  [buffer]                               when full, recording stops with an error
  journal_bytes_max = 1073741824
  video_bytes_max = 34359738368
  [offload]                              how recordings go to a gateway; readings go first
  uploads = 2                            recordings at a time
  bytes_per_s = 500000                   of all together; without it no limit
  metered = "marked"                     over a metered link: or "readings", "everything"
  link = "auto"                          or "metered", "unmetered"
  [source]                               for `run` only
  driver = "replay"                      or "simulated" (with minutes, seed), or "sensors"
  interval_s = 1                         time between two readings of "sensors"
  readings = "trip/readings.csv"
  track = "trip/track.gpx"
  videos = ["trip/video.avi"]
  speed = "1"
  map = ["temperature/degF=Temp"]        columns that are not named as we know them
  without = ["humidity"]                 what the log does not give
  delimiter = ";"                        what separates its cells
  align = "time"                         the track's times are the log's
  track_name = "Morning"                 of several tracks in the file
  timezone = "Europe/Vienna"             of its times that name no zone
  [[sensors]]                            for driver "sensors", a table for each
  name = "cargo"
  driver = "iio"                         or "hwmon", "1-wire", "gpsd", "gpio", "lsm9ds1",
                                         "sense-hat" (with bus)
  chip = "bme280"                        of "iio" and "hwmon"; the serial number of "1-wire"
  gpsd = "127.0.0.1:2947"                of "gpsd"
  pin = 17                               of "gpio", the BCM number
  sign = "door-open"                     of "gpio", what its active level means
  active = "high"                        or "low"
  shock_mg = 4000                        of "lsm9ds1", thousandths of g; also bus, address, rate_hz
  every_s = 1                            time between two questions to this sensor
  offset_mcel = 0                        calibration; also offset_mpct, offset_pa
  frozen_after_s = 3600                  after that time without a change it counts as frozen
  [[cameras]]                            for driver "sensors", a table for each
  name = "hold"
  driver = "v4l2"                        or "picamera2", "rtsp", "file", "simulated"
  number = 0                             of "picamera2", which camera
  device = "/dev/video0"                 of "v4l2"
  url = "rtsp://..."                     of "rtsp"
  file = "film.mp4"                      of "file", which is repeated
  segment_s = 60                         a film is cut into recordings of this length
  pictures_per_s = 10                    kept while something moves; still_pictures_per_s else
  in_the_dark = true                     a dark picture is no covered lens
  [presence]                             a trip begins at each departure, ends at the arrival
  by = "network-manager"                 or "wifi" (with interface), "broker", "file" (with file)
  ssids = ["yard-b"]                     the sites' networks
  bssids = ["02:00:00:00:01:00"]         their access points, if the name alone is not to count
  debounce_s = 15                        how long a change has to last
  [clock]                                where the time comes from on the road
  gpsd = "127.0.0.1:2947"                a GPS receiver; or file, which another program writes
  [display]                              shows whether the truck may leave
  red_pin = 5                            with green_pin and blue_pin; or lamp_pin, one LED
  oled_address = 0x3C                    an SSD1306 on I2C; also oled_bus, oled_height

examples:
  wayseal-device init                    create the key, print the public key to register
  wayseal-device simulate --out trip     write a simulated trip as files
  wayseal-device check trip/readings.csv trip/track.gpx
                                         say what they give; nothing is signed
  wayseal-device record --readings trip/readings.csv --track trip/track.gpx \\
      --video trip/video.avi             record it as one sealed trip, offline
  wayseal-device offload                 send everything to the first gateway that answers,
                                         delete on its receipt
  wayseal-device enrol > truck-7.jsonl   what each site's gateway needs to admit this device
  wayseal-device run                     do both until SIGTERM
  wayseal-device share --out trip.start  write the trip's start for the truck's other devices
  wayseal-device record --join trip.start --readings rear.csv
                                         record on that trip, on another device

  wayseal-device fleet --trucks 50 --mqtt 127.0.0.1:1883 --rest http://127.0.0.1:8080 \\
      --gateway-key 02... --tokens tokens.jsonl --ledger http://127.0.0.1:8008 --admin admin.key
                                         measure a gateway, on a ledger for tests

exit codes:
  0 success   1 failure, stderr says why   2 wrong usage or settings
  3 `offload` only: everything arrived; it is kept here until a final receipt comes
  4 `offload` only: the gateway holds everything, but the ledger has not committed all of it
    within --wait-s; it is kept here: offload again
  130 stopped by Ctrl-C; the same command continues
"""
