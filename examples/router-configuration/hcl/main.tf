# Two routers of a depot. Only what stands here is ours: whatever else they are configured with stays as it is.
# The password is not among it, because Terraform keeps a document, with all that is in it, in its state.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

variable "mtu" {
  type    = number
  default = 1500
}

resource "devicecloud_configuration_manager" "gate" {
  router    = "5001"
  suspended = false
  configuration = jsonencode([
    {
      system   = { system_id = "depot-7-gate" }
      lan      = { main = { mtu = var.mtu } }
      firewall = { rules = { temporary = null } }
    },
  ])
}

resource "devicecloud_configuration_manager" "yard" {
  router        = "5002"
  configuration = jsonencode([{ lan = { main = { mtu = var.mtu } } }])
}
