@cells @counts
Feature: Several cells in one city
  Where a city has several cells, Karmada divides the replicas among them by their free resources. The names of
  Instances stay unique in the project, and an Instance keeps its name.

  Background:
    Given the federation has cells "iad-1, iad-2"
    And a namespace in project "south"
    And project "south" may use IAD

  @status @core
  Scenario: Replicas are divided, and running Instances stay in their cells
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    Then Workload "web" becomes available with 4 ready Instances
    And the project has exactly the instances "web-main-iad-0, web-main-iad-1, web-main-iad-2, web-main-iad-3"
    And cells "iad-1, iad-2" run 4 Instances, each at least 1, and none twice
    When Workload "web" is scaled to 7 and settles
    Then cells "iad-1, iad-2" run 7 Instances, each at least 1, and none twice
    And none of the Instances in cells "iad-1, iad-2" was replaced
    When Workload "web" is scaled to 2 and settles
    Then cells "iad-1, iad-2" run 2 Instances, each at least 1, and none twice
    And none of the Instances in cells "iad-1, iad-2" was replaced
    When the consumer deletes workload "web"
    Then the hub has nothing of the namespace
    And cell "iad-1" has nothing of the namespace
    And cell "iad-2" has nothing of the namespace

  @status @zero
  Scenario: A placement is stopped and started again
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 3        |
      | other     | DFW    | 1        |
    Then Workload "web" becomes available with 4 ready Instances
    When the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":0}]
    Then Workload "web" becomes available with 1 ready Instances
    And workload "web" has "status.placements[0].conditions[0].reason" "ScaledToZero"
    And workloaddeployment "web-main-iad" has condition Available True because of "ScaledToZero"
    And cells "iad-1, iad-2" run 0 Instances
    When the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/1/scaleSettings/minReplicas","value":0},{"op":"add","path":"/spec/template/metadata","value":{"labels":{"version":"2"}}}]
    Then Workload "web" becomes available with 0 ready Instances
    And workload "web" has condition Available True because of "ScaledToZero"
    And workload "web" has "status.rollout.phase" "Complete"
    When the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":3},{"op":"replace","path":"/spec/placements/1/scaleSettings/minReplicas","value":1}]
    Then Workload "web" becomes available with 4 ready Instances
    And cells "iad-1, iad-2" run 3 Instances, each at least 1, and none twice

  @status @long
  Scenario: The Instances of a large deployment in several cells
    When the consumer creates Workload "web" with
      | placement | cities | replicas | policy   |
      | main      | IAD    | 40       | Parallel |
    Then Workload "web" becomes available with 40 ready Instances
    And cells "iad-1, iad-2" run 40 Instances, each at least 10, and none twice
    And cell "iad-1" has exactly the instanceslices "web-main-iad-16"
    And cell "iad-2" has exactly the instanceslices "web-main-iad-16"
    And the Instances in the project show the addresses of their Pods
    When cell "iad-2" does not serve the city
    Then cell "iad-1" runs 40 Instances
    And cell "iad-2" runs 0 Instances
    And Workload "web" becomes available with 40 ready Instances
    And the Instances in the project show the addresses of their Pods
    And cell "iad-2" has no instanceslices
    When the consumer deletes workload "web"
    Then the hub has nothing of the namespace
    And cell "iad-1" has nothing of the namespace

  Scenario: A cell with less capacity gets fewer Instances
    Given cell "iad-2" has a quarter of the capacity of cell "iad-1"
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 10       |
    Then Workload "web" becomes available with 10 ready Instances
    And cell "iad-1" runs 8 Instances
    And cell "iad-2" runs 2 Instances

  Scenario: A cell that joins a city gets its share of new Instances, and no running ones
    Given cell "iad-2" does not serve the city
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 2        |
    And cell "iad-1" runs 2 Instances
    When cell "iad-2" serves IAD
    Then propagationpolicy "independent-city-iad" on the hub has "spec.placement.replicaScheduling.replicaSchedulingType" "Divided"
    And resourcebinding "web-main-iad-workloaddeployment" on the hub has "spec.placement.replicaScheduling.replicaSchedulingType" "Divided"
    When Workload "web" is scaled to 6 and settles
    Then cells "iad-1, iad-2" run 6 Instances, each at least 1, and none twice
    And none of the Instances in cells "iad-1, iad-2" was replaced
    When cell "iad-2" does not serve the city
    Then cell "iad-1" runs 6 Instances
    And cell "iad-2" runs 0 Instances
    And Workload "web" becomes available with 6 ready Instances
    And none of the Instances in cells "iad-1" was replaced

  @core
  Scenario: The Instances of a lost cell move to the others, once
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    And cells "iad-1, iad-2" run 4 Instances, each at least 1, and none twice
    When cell "iad-2" goes down
    Then cell "iad-1" runs 4 Instances
    And Workload "web" becomes available with 4 ready Instances
    And the project has exactly the instances "web-main-iad-0, web-main-iad-1, web-main-iad-2, web-main-iad-3"
    And none of the Instances in cells "iad-1" was replaced
    When cell "iad-2" returns
    Then cell "iad-2" runs 0 Instances
    And cells "iad-1, iad-2" run 4 Instances, each at least 0, and none twice
    And Workload "web" becomes available with 4 ready Instances
    And none of the Instances in cells "iad-1" was replaced

  @long
  Scenario: A name moves to another cell when its Pod has ended
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    And cells "iad-1, iad-2" run 4 Instances, each at least 1, and none twice
    When process "cell-iad-2-kwok" is killed
    And cell "iad-2" serves ZRH
    Then cell "iad-1" runs 4 Instances
    And no name has a Pod in two of cells "iad-1, iad-2"
    When Workload "web" is scaled to 6 and settles
    Then cell "iad-1" runs 6 Instances
    And no name has a Pod in two of cells "iad-1, iad-2"
    When process "cell-iad-2-kwok" is started again
    Then workloaddeployment "web-main-iad" on the hub has "spec.assignment.cells[*].name" "iad-1"
    And cell "iad-2" runs 0 Instances

  Scenario: Instances that exceed the capacity of all cells are reported, and the others continue
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 2        |
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | IAD    | 900      |
    Then workloaddeployment "web-main-iad" has condition ReplicasReady False, saying "the cells of IAD do not have enough capacity"
    And none of the Instances in cells "iad-1, iad-2" was replaced
    When Workload "web" is scaled to 3 and settles
    Then cells "iad-1, iad-2" run 3 Instances, each at least 1, and none twice

  Scenario: Instances that no cell has capacity for are scheduled when one has more
    Given cells "iad-1, iad-2" have almost no capacity
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 12       |
    Then workloaddeployment "web-main-iad" has condition Available False because of "NoCapacity", saying "tried again when a cell has more room"
    And workload "web" has condition Scheduled False because of "NoCapacity"
    When the consumer runs "kubectl compute list --waiting"
    Then the command has ended with exit code 0
    And the command prints "NoCapacity"
    When cells "iad-1" have all their capacity
    Then Workload "web" becomes available with 12 ready Instances
    And workload "web" has no condition Scheduled
    And cells "iad-1, iad-2" run 12 Instances, each at least 0, and none twice

  Scenario: A cell whose nodes come on demand gets Instances before it has a node for them
    Given cells "iad-1, iad-2" have almost no capacity
    When an operator patches namespace "karmada-es-iad-2" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/nodes-on-demand":"4"}}}
    And the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | IAD    | 12       |
    Then workload "web" has condition Available False because of "Unschedulable"
    And workload "web" has condition Scheduled False because of "NoCapacity"
    When the consumer runs "kubectl compute list --waiting"
    Then the command has ended with exit code 0
    And the command prints "waits for a node"
    And the command prints "NoCapacity"
    When cells "iad-2" have all their capacity
    Then Workload "web" becomes available with 12 ready Instances
    And workload "web" has no condition Scheduled
    And cells "iad-1, iad-2" run 12 Instances, each at least 0, and none twice
    When an operator patches namespace "karmada-es-iad-2" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/nodes-on-demand":null}}}

  @long
  Scenario: Instances of a removed cell are deleted
    Given cell "iad-2" does not serve the city
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 2        |
    When cell "iad-1" goes down
    And cell "iad-1" is forgotten
    Then the project has no instances
    And workloaddeployment "web-main-iad" has condition Available False, saying "no cell serves IAD"
    And cluster "iad-1" on the hub has condition ComputeForgotten True
    When cell "iad-2" serves IAD
    Then Workload "web" becomes available with 2 ready Instances
    And cell "iad-2" runs 2 Instances
