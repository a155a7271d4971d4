"""What leaves in other people's forms, made from the records alone; each module is about one form.

`cells`: text that a spreadsheet takes as text. `readings`: a trip's readings as CSV and as SenML.
`fsma`: the sheets of FSMA 204; `fsmarecords`: what goes into them. `epcis`: events of EPCIS 2.0.
"""
