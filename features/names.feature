Feature: A Workload has names that follow its health
  A name has the addresses of the cities that serve. Traffic leaves a city before its Instances do. external-dns, CoreDNS,
  Traefik and load balancers are real processes: a client resolves a name, and sends a request to its address.

  Scenario: A name has the addresses of the cities that serve
    Given a namespace in project "north"
    And cells "dfw, ord" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates in the project
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: Workload
      metadata: {name: web}
      spec:
        service: {exposure: LoadBalancer, ports: [{port: 80}]}
        template:
          spec:
            runtime:
              sandbox: {containers: [{name: app, image: docker.io/library/nginx:1.27}]}
        placements:
        - {name: main, cityCodes: [DFW, ORD], scaleSettings: {minReplicas: 1}}
      """
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "dfw, ord"
    And workload "web" has condition NamesProgrammed True because of "NamesProgrammed"
    And workload "web" has "status.hostnames[*]" "web-${namespace}-${project}.apps.example.com"

    # The addresses of a city leave the name first. Its Instance stops when resolvers have forgotten them.
    When the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}}]}}
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "dfw"
    And pod "web-main-ord-0" in cell "ord" exists
    And pod "web-main-ord-0" in cell "ord" is gone
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "dfw"

    When the consumer deletes workload "web"
    Then name "web-${namespace}-${project}.apps.example.com" has no addresses

  @containers
  Scenario Outline: A rollout fails no request to a name
    Given a namespace in project "north"
    And cell "hou" runs containers
    And cells "hou" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of <instances> in HOU with container {"args":["--drain=20s"],"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with <instances> ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "hou"
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    And the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["HOU"],"scaleSettings":{"minReplicas":<instances>,"instanceManagementPolicy":"<policy>"}}],"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"karmada-compute.test/image:v1","args":["--drain=20s","--log=1h"],"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}]}}}}}}
    Then Workload "web" becomes available with <instances> ready Instances
    And the client has sent at least 50 requests, and none has failed

    Examples:
      | instances | policy       |
      | 3         | OrderedReady |

    @long
    Examples: longer
      | instances | policy       |
      | 1         | OrderedReady |
      | 10        | Parallel     |

  # The commands of docs/how-to/addresses.md create the Gateway, and the client trusts its certificate.
  @containers
  Scenario: A client reaches a Workload by TLS through the Gateway of its cell, and a rollout fails no request
    Given a namespace in project "north"
    And cell "hou" runs containers
    And cells "hou" have load balancers and Gateways, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--drain=20s"],"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"Gateway","ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 1 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the address of the Gateway of cell "hou"
    And workload "web" has condition ServiceProgrammed True because of "ServiceProgrammed"
    And httproute "web" in cell "hou" has "status.parents[*].controllerName" "traefik.io/gateway-controller"
    And httproute "web" in cell "hou" has "status.parents[*].parentRef.sectionName" "https"
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    Then a request in clear text for name "web-${namespace}-${project}.apps.example.com" is redirected to TLS
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"karmada-compute.test/image:v1","args":["--drain=20s","--log=1h"],"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}]}}}}}}
    Then Workload "web" becomes available with 1 ready Instances
    And the client has sent at least 50 requests, and none has failed

  @containers @long
  Scenario: A Workload moves from its load balancer to the Gateway, and requests fail only while its name has no address
    Given a namespace in project "north"
    And cell "hou" runs containers
    And cells "hou" have load balancers and Gateways, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in HOU with container {"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","drainSeconds":5,"ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 1 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "hou"

    # A cell has one Service for the Workload, with addresses of one kind. The name returns with the Gateway's address when the
    # load balancer's has been out of the name for drainSeconds (docs/decisions/traffic-leaves-first.md). Clients that have
    # resolved the name before are served for drainSeconds of that time.
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"Gateway"}}}
    Then name "web-${namespace}-${project}.apps.example.com" has the address of the Gateway of cell "hou"
    And workload "web" has condition NamesProgrammed True because of "NamesProgrammed"
    And requests of the client are answered again, and none has failed while the name had an address
    And httproute "web" in cell "hou" exists
    And service "web" in cell "hou" has "spec.type" "ClusterIP"

  @containers @serial @long
  Scenario: A city that is drained or removed fails no request
    Given a namespace in project "north"
    And cells "lax, mia" run containers
    And cells "lax, mia" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in LAX, MIA with container {"args":["--drain=20s"],"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","drainSeconds":5,"ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"

    # An operator cordons the nodes, waits until the city has left the name, and drains them.
    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    And all nodes of cell "lax" are cordoned
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "mia"
    When user "federation" tries to evict pod "web-main-lax-0" in cell "lax"
    Then that is not refused
    When all nodes of cell "lax" are uncordoned
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"

    When the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["MIA"],"scaleSettings":{"minReplicas":1}}]}}
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "mia"
    And pod "web-main-lax-0" in cell "lax" exists
    And pod "web-main-lax-0" in cell "lax" is gone
    And the client has sent at least 50 requests, and none has failed

  @containers @serial @faults
  Scenario: A city that is killed leaves the name
    Given a namespace in project "north"
    And cells "lax, mia" run containers
    And cells "lax, mia" have load balancers, and a DNS server answers the names of Workloads
    When the consumer creates Workload "web" of 1 in LAX, MIA with container {"ports":[{"name":"http","port":8080}],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"service":{"exposure":"LoadBalancer","ports":[{"port":80,"targetPort":"http"}]}}}
    Then Workload "web" becomes available with 2 ready Instances
    And name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"

    # The replicas ask the addresses. All else says that the city serves.
    When processes "load-balancers-lax" are killed
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "mia"
    And workload "web" has condition NamesProgrammed False because of "AddressUnreachable"
    When processes "load-balancers-lax" are started again
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"

    When a client sends a request to name "web-${namespace}-${project}.apps.example.com" every 50 ms
    And processes "load-balancers-lax, node-lax-containers-0, cell-lax-kube-apiserver" are killed
    Then name "web-${namespace}-${project}.apps.example.com" loses the addresses of cell "lax", which the hub has lost
    And no request of the client fails from 10 seconds after the hub has lost cell "lax"
    And name "web-${namespace}-${project}.apps.example.com" still has the addresses of cells "mia"
    When processes "cell-lax-kube-apiserver, node-lax-containers-0, load-balancers-lax" are started again
    Then name "web-${namespace}-${project}.apps.example.com" has the addresses of cells "lax, mia"
