# A made-up network in two parts, in the style of the Topology Zoo.
Creator "nobody"
graph [
  directed 0
  Network "Islands"
  label "Islands"
  node [
    id 0
    label "Gull Rock"
    Country "Nowhere"
    Longitude -30.5
    Internal 1
    Latitude 60
  ]
  node [ id 1 label "Gull rock" Longitude -31 Latitude 60.5 graphics [ x 1.0 y 2 ] ]
  node [ id 2 label "c1" Longitude -32 Latitude 6.1e1 ]
  node [ id 3 label "leaf" ]
  node [ id 7 label "7 Stones &#38; more" ]
  node [ id 8 label "Far
Away" ]
  edge [ source 0 target 1 LinkLabel "1 Gbps" id "e1" ]
  edge [ source 1 target 2 ]
  edge [ source 2 target 0 ]
  edge [ source 0 target 1 id "e2" ]
  edge [ source 2 target 3 ]
  edge [ source 7 target 8 ]
]
