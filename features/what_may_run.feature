Feature: Instance types, networks and placements
  Operators define instance types. NetworkPolicies in a cell follow from the template. A placement names cities or locations, or
  selects locations by labels.

  @core @main
  Scenario: An Instance gets the size of its type and keeps it
    Given a namespace in project "north"
    And an operator creates on the hub
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: InstanceType
      metadata: {name: ${namespace}}
      spec:
        displayName: of this scenario
        resources: {cpu: 300m, memory: 64Mi}
      """
    And instancetype "${namespace}" exists
    When the consumer tries to create the sample Workload with {"spec":{"template":{"spec":{"runtime":{"resources":{"instanceType":"unheard-of"}}}}}}
    Then that is refused with "datumcloud-d1-standard-2"
    When the consumer creates in the project
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: Workload
      metadata: {name: web}
      spec:
        template:
          spec:
            runtime:
              resources: {instanceType: ${namespace}}
              sandbox: {containers: [{name: app, image: docker.io/library/nginx:1.27}]}
            networkInterfaces:
              - network: {name: default}
                networkPolicy: {ingress: [{from: [{ipBlock: {cidr: 10.9.0.0/16}}]}]}
        placements: [{name: main, locationSelector: {matchLabels: {topology.datum.net/city-code: DFW}}, scaleSettings: {minReplicas: 1}}]
      """
    Then Workload "web" becomes available with 1 ready Instances
    And pod "web-main-dfw-0" in cell "dfw" has "spec.containers[0].resources.requests.cpu" "300m"
    And pod "web-main-dfw-0" in cell "dfw" has "spec.securityContext.seccompProfile.type" "RuntimeDefault"
    And cell "dfw" has 2 networkpolicies
    And cell "dfw" runs 1 Instances
    When an operator patches instancetype "${namespace}" on the hub with {"spec":{"resources":{"cpu":"400m"}}}
    And instancetype "${namespace}" has "spec.resources.cpu" "400m"
    And Workload "web" is scaled to 2 and settles
    Then pod "web-main-dfw-1" in cell "dfw" has "spec.containers[0].resources.requests.cpu" "300m"
    And none of the Instances in cell "dfw" was replaced
    When an operator deletes instancetype "${namespace}" on the hub
    Then instancetype "${namespace}" is gone
    And workload "web" has condition InstanceTypeDisabled True because of "InstanceTypeNotFound"
    And none of the Instances in cell "dfw" was replaced

  Scenario: An Instance starts when its network is ready in the city
    Given a project of its own with a network service
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then workload "web" has condition Available False, saying "network default is not in location location-dfw yet"
    And the project has 1 networkbindings
    And cell "dfw" runs exactly the Pods ""
    When the network service brings network "default" to "location-dfw"
    Then kubectl waits for condition Available of workload "web"
    And Workload "web" becomes available with 1 ready Instances
    When the consumer deletes workload "web"
    Then the project has no networkbindings
