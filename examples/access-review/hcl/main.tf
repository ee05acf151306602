# Who is meant to do what, and where. Dana's role is not declared, and left alone.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

data "devicecloud_account" "account" {
  for_each = { hq = "Headquarters", north = "North region", depot = "Depot 7" }
  name     = each.value
}

resource "devicecloud_account_authorization" "role" {
  for_each = {
    ada              = ["71", "hq", "administrator"]
    ben              = ["72", "north", "full_access_user"]
    ben-at-the-depot = ["72", "depot", "read_only_user"]
    chloe            = ["73", "depot", "read_only_user"]
  }
  user    = each.value[0]
  account = data.devicecloud_account.account[each.value[1]].id
  role    = each.value[2]
}
