stage = "prod"
hooks = "https://hooks.example.com"
sites = ["depot-7", "depot-8", "clinic-2"]
