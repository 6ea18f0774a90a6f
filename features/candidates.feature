Feature: Another city takes the place of a lost one
  A placement with spread names candidates, and some of them run its Instances (docs/how-to/candidates.md).

  @serial
  Scenario: A lost city is replaced, and gets its Instances again
    Given the federation has cells "iad-1, iad-2"
    And cell "iad-2" serves ZRH
    And project "north" may use IAD
    And a namespace in project "north"
    When the consumer creates Workload "web" of 2 in IAD with container {}
    And the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["IAD","DFW","ORD"],"spread":{"cities":1,"failover":{"after":"30s","stableFor":"30s"}},"scaleSettings":{"minReplicas":2}}]}}
    Then Workload "web" becomes available with 2 ready Instances
    And workload "web" has "status.placements[0].cities[*].city" "IAD"
    And the project has exactly the instances "web-main-iad-0, web-main-iad-1"

    When cell "iad-1" goes down
    Then workload "web" has "status.placements[0].cities[?(@.phase=='Running')].city" "DFW"
    And instance "web-main-dfw-0" has condition Ready True because of "Available"
    And instance "web-main-dfw-1" has condition Ready True because of "Available"
    And workload "web" has "status.readyReplicas" "2"
    And cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1"
    # The cell could not be told.
    And workload "web" has "status.placements[0].cities[?(@.phase=='Lost')].city" "IAD"
    And the project has exactly the instances "web-main-dfw-0, web-main-dfw-1, web-main-iad-0, web-main-iad-1"

    When cell "iad-1" returns
    Then workload "web" has "status.placements[0].cities[?(@.phase=='Running')].city" "IAD"
    And Workload "web" becomes available with 2 ready Instances
    And the project has exactly the instances "web-main-iad-0, web-main-iad-1"
    And workloaddeployment "web-main-dfw" in cell "dfw" is gone
