@long
Feature: A part that is down for a moment stops, moves and renames nothing
  Clients of a Workload in two cities do not notice that its control planes or an agent are down: silence changes nothing
  that runs, is named or is granted. The names, load balancers and containers are real: a client resolves the name, and sends a request to its address.

  @containers @serial @faults
  Scenario Outline: A minute without <what>, and no client notices
    Given a namespace in project "north"
    And cells "lax, mia" run containers
    And cells "lax, mia" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in LAX, MIA with container {"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"
    And instance "web-main-lax-0" in cell "lax" exists
    And instance "web-main-mia-0" in cell "mia" exists
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    And <away>
    And 60 seconds pass
    Then name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "lax, mia"
    When <back>
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "lax, mia"
    And instance "web-main-lax-0" in cell "lax" was not replaced
    And instance "web-main-mia-0" in cell "mia" was not replaced
    And the client has sent at least 500 requests, and none has failed

    Examples:
      | what                     | away                                   | back                                          |
      | Milo                     | Milo is down                           | Milo is up again                              |
      # external-dns ends without the hub's API server, and a kubelet starts it again.
      | the hub's API server     | processes "external-dns, hub-kube-apiserver" are killed | processes "hub-kube-apiserver, external-dns" are started again |
      # The hub may refuse the typing error: it is YAML, and the annotation is JSON.
      | a correct annotation     | an operator tries to patch namespace "karmada-es-lax" on the hub with [{"op":"copy","from":"/metadata/annotations/compute.datumapis.com~1load-balancer","path":"/metadata/annotations/former"},{"op":"replace","path":"/metadata/annotations/compute.datumapis.com~1load-balancer","value":"addresses: [10.130.0.0/16]"}] | an operator tries to patch namespace "karmada-es-lax" on the hub with [{"op":"move","from":"/metadata/annotations/former","path":"/metadata/annotations/compute.datumapis.com~1load-balancer"}] |

  @containers @serial @faults
  Scenario: A minute without the agent of a city, and no client notices
    Given a namespace in project "north"
    And cells "lax, mia" run containers
    And cells "lax, mia" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in LAX, MIA with container {"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"
    And instance "web-main-lax-0" in cell "lax" exists
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    # The operator's own policy stops the agent.
    And an operator creates on the hub
      """
      apiVersion: policy.karmada.io/v1alpha1
      kind: ClusterOverridePolicy
      metadata: {name: "away-${hubNamespace}"}
      spec:
        resourceSelectors:
        - {apiVersion: apps/v1, kind: Deployment, namespace: karmada-compute-system, name: karmada-compute-cell}
        overrideRules:
        - targetCluster: {clusterNames: [lax]}
          overriders:
            plaintext:
            - {path: /spec/replicas, operator: replace, value: 0}
      """
    Then cluster "lax" on the hub has condition ComputeAgentReady False
    When 60 seconds pass
    Then cluster "lax" on the hub still has condition ComputeAgentReady False
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "lax, mia"
    And workload "web" still has "status.endpoints[*].serving" "true true"
    And instance "web-main-lax-0" in cell "lax" was not replaced
    When an operator deletes clusteroverridepolicy "away-${hubNamespace}" on the hub
    Then cluster "lax" on the hub has condition ComputeAgentReady True
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "lax, mia"
    And the client has sent at least 500 requests, and none has failed
