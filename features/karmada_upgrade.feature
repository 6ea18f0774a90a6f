@serial @long
Feature: An upgrade of Karmada
  The components of Karmada on the hub are replaced while Workloads run: no Instance is replaced, no name changes, and a
  rollout that pauses continues afterwards from where it was. The federation starts with the newest version, so each scenario begins
  with an older one.

  Scenario Outline: Karmada is upgraded in the <order> order
    Given the hub runs Karmada 1.17, in the documented order
    And a namespace in project "north"
    And cells "dfw, ord" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates in the project
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: Workload
      metadata: {name: web}
      spec:
        service: {exposure: LoadBalancer, ports: [{port: 80}]}
        rollout: {pauseAfter: FirstCity}
        template:
          spec:
            runtime:
              sandbox: {containers: [{name: app, image: docker.io/library/nginx:1.27}]}
        placements:
        - {name: main, cityCodes: [DFW, ORD], scaleSettings: {minReplicas: 2}}
      """
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "dfw, ord"
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then workload "web" has "status.rollout.phase" "Paused"
    And pod "web-main-dfw-0" in cell "dfw" has "spec.containers[0].image" "docker.io/library/nginx:1.28"
    And pod "web-main-ord-0" in cell "ord" has "spec.containers[0].image" "docker.io/library/nginx:1.27"
    And pod "web-main-dfw-0" in cell "dfw" exists
    And pod "web-main-ord-0" in cell "ord" exists
    When the hub runs Karmada of this repository, in the <order> order
    And Workload "other" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    Then pod "web-main-dfw-0" in cell "dfw" was not replaced
    And pod "web-main-ord-0" in cell "ord" was not replaced
    And workload "web" has "status.rollout.phase" "Paused"
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "dfw, ord"
    When the consumer patches workload "web" with {"spec":{"rollout":{"pauseAfter":null}}}
    Then workload "web" has "status.rollout.phase" "Complete"
    And pod "web-main-ord-0" in cell "ord" has "spec.containers[0].image" "docker.io/library/nginx:1.28"

    Examples:
      | order      |
      | documented |
      | reversed   |
