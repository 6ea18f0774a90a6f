@budget
Feature: Disruption budgets
  A cell keeps as many Instances Available as the hub has assigned to it, during drains, evictions and the agent's own rollouts.
  Kubernetes counts disruptions in one place, a PodDisruptionBudget.

  Background:
    Given a namespace in project "south"

  Scenario: One disruption in each cell, and no third
    # An evicted Instance is Available again only after some seconds, after the third eviction was tried.
    Given a deployment "web" of 3 Instances, of which 2 stay Available, is put into cell "dfw", with minReadySeconds 15
    And a deployment "web" of 4 Instances, of which 3 stay Available, is put into cell "ord", with minReadySeconds 15
    And the floor of deployment "web" in cell "dfw" is in force
    And the floor of deployment "web" in cell "ord" is in force
    When user "federation" tries to dry-run the eviction of pod "web-0" in cell "dfw"
    Then that is not refused
    When user "federation" tries to evict pod "web-0" in cell "dfw"
    Then that is not refused
    When user "federation" tries to evict pod "web-3" in cell "ord"
    Then that is not refused
    When user "federation" tries to evict pod "web-1" in cell "dfw"
    Then that is refused with "Cannot evict pod as it would violate the pod's disruption budget"
    Then that is eventually not refused

  @main
  Scenario: A deletion is refused without the break-glass annotation
    Given a deployment "web" of 2 Instances, of which 2 stay Available, is put into cell "dfw"
    And the floor of deployment "web" in cell "dfw" is in force
    When user "federation" tries to delete pod "web-0" in cell "dfw"
    Then that is refused with "the disruption budget of Workload web protects pods/web-0, and user federation may not delete it: evict it instead, with kubectl drain or the Eviction API"
    When user "federation" tries to delete instance "web-0" in cell "dfw"
    Then that is refused with "evict Pod web-0 to move it, or change Workload web in its project instead"
    When user "federation" tries to delete poddisruptionbudget "web" in cell "dfw"
    Then that is refused with "change Workload web in its project instead"
    When an operator patches pod "web-0" in cell "dfw" with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"it serves wrong data"}}}
    And user "federation" tries to delete pod "web-0" in cell "dfw"
    Then that is not refused
    And pod "web-0" in cell "dfw" becomes another one

  Scenario: 100 evictions at once never take the number below the floor
    Given a deployment "web" of 3 Instances, of which 2 stay Available, is put into cell "dfw"
    And a deployment "web" of 4 Instances, of which 3 stay Available, is put into cell "ord"
    And the floor of deployment "web" in cell "dfw" is in force
    And the floor of deployment "web" in cell "ord" is in force
    When the Ready Pods of deployment "web" in cells "dfw, ord" are watched
    And 100 evictions of Pods of deployment "web" at once are requested in cells "dfw, ord"
    Then the floor of deployment "web" in cell "dfw" is in force
    And the floor of deployment "web" in cell "ord" is in force
    And at every moment at least 5 of the watched Pods were Ready, and fewer than at first for a while

  @long
  Scenario: A new template and a drain obey the floor
    Given the federation has cell "iad-1"
    And a deployment "web" of 5 Instances, of which 4 stay Available, is put into cell "iad-1"
    And the floor of deployment "web" in cell "iad-1" is in force
    When the Ready Pods of deployment "web" in cell "iad-1" are watched
    And an operator patches workloaddeployment "web" in cell "iad-1" with {"spec":{"rollout":{"maxUnavailable":"100%"},"template":{"metadata":{"annotations":{"example.com/release":"2"}}}}}
    And kubectl drains every node but one of cell "iad-1"
    Then workloaddeployment "web" in cell "iad-1" has "status.currentReplicas" "5"
    And workloaddeployment "web" in cell "iad-1" has "status.availableReplicas" "5"
    And the floor of deployment "web" in cell "iad-1" is in force
    And at every moment at least 4 of the watched Pods were Ready, and fewer than at first for a while

  @counts @core
  Scenario: A budget of the project holds over two cities
    Given Workload "web" runs with
      | placement | cities | replicas |
      | three     | DFW    | 3        |
      | four      | ORD    | 4        |
    # An evicted Instance stays unavailable until the third eviction has been tried. The slack of a budget goes to the cells whose Instances are
    # Available, so all of them are before it is set.
    When the consumer patches workload "web" with {"spec":{"minReadySeconds":20}}
    Then workloaddeployment "web-three-dfw" has current condition StatusCurrent True because of "Reported"
    And workloaddeployment "web-four-ord" has current condition StatusCurrent True because of "Reported"
    And workload "web" has "status.availableReplicas" "7"
    When the consumer patches workload "web" with {"spec":{"disruption":{"minAvailable":5}}}
    Then workload "web" has current condition DisruptionBudget True because of "BudgetInForce"
    And poddisruptionbudget "web-three-dfw" in cell "dfw" has "status.disruptionsAllowed" "1"
    And poddisruptionbudget "web-four-ord" in cell "ord" has "status.disruptionsAllowed" "1"
    When user "federation" tries to evict pod "web-three-dfw-0" in cell "dfw"
    Then that is not refused
    When user "federation" tries to evict pod "web-four-ord-0" in cell "ord"
    Then that is not refused
    When user "federation" tries to evict pod "web-four-ord-1" in cell "ord"
    Then that is refused with "Cannot evict pod as it would violate the pod's disruption budget"
    When user "federation" tries to evict pod "web-three-dfw-1" in cell "dfw"
    Then that is refused with "Cannot evict pod as it would violate the pod's disruption budget"
    And workload "web" has "status.availableReplicas" "7"
    And poddisruptionbudget "web-four-ord" in cell "ord" has "status.disruptionsAllowed" "1"
    # Tokens are revoked before the minimum is reported to be in force.
    When the consumer patches workload "web" with {"spec":{"disruption":{"minAvailable":7}}}
    Then workload "web" has current condition DisruptionBudget True because of "NoDisruptionAllowed"
    And poddisruptionbudget "web-three-dfw" in cell "dfw" still has "status.disruptionsAllowed" "0"
    And poddisruptionbudget "web-four-ord" in cell "ord" still has "status.disruptionsAllowed" "0"

  @counts
  Scenario: A drain obeys the budget of the project
    Given the federation has cells "iad-1, iad-2"
    And project "south" may use IAD
    And Workload "web" runs with
      | placement | cities | replicas | policy   |
      | main      | IAD    | 4        | Parallel |
    When the consumer patches workload "web" with {"spec":{"disruption":{"minAvailable":3}}}
    Then workload "web" has current condition DisruptionBudget True because of "BudgetInForce"
    When the Ready Pods of deployment "web-main-iad" in cells "iad-1, iad-2" are watched
    And kubectl drains every node but one of cell "iad-1"
    Then at every moment at least 3 of the watched Pods were Ready, and fewer than at first for a while
    And Workload "web" becomes available with 4 ready Instances

  Scenario: A cell whose nodes are all cordoned is reported, keeps its Instances, and gets no new deployment
    Given the federation has cells "iad-1, iad-2"
    And project "south" may use IAD
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    And cells "iad-1, iad-2" run 4 Instances, each at least 1, and none twice
    When all nodes of cell "iad-1" are cordoned
    Then cluster "iad-1" on the hub has condition ComputeNodesSchedulable False because of "NodesCordoned"
    And resourcebinding "web-main-iad-workloaddeployment" on the hub has "spec.placement.clusterAffinities[*].affinityName" "schedulable city"
    When the consumer creates Workload "new" with
      | placement | cities | replicas |
      | main      | IAD    | 4        |
    Then Workload "new" becomes available with 4 ready Instances
    And resourcebinding "new-main-iad-workloaddeployment" on the hub has "spec.clusters[*].name" "iad-2"
    And none of the Instances in cells "iad-1, iad-2" was replaced
    When all nodes of cell "iad-1" are uncordoned
    Then cluster "iad-1" on the hub has condition ComputeNodesSchedulable True because of "NodesSchedulable"
    And resourcebinding "new-main-iad-workloaddeployment" on the hub has "spec.placement.clusterAffinities[*].affinityName" "city"
    When Workload "new" is scaled to 10 and settles
    Then resourcebinding "new-main-iad-workloaddeployment" on the hub has "spec.clusters[*].name" "iad-1 iad-2"
    And none of the Instances in cells "iad-1, iad-2" was replaced
