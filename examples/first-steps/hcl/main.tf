# The smallest estate that does something: an account, someone to tell, and what to tell them.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

# Never the value itself: it comes from TF_VAR_pager_secret, and stays out of plan and state.
variable "pager_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "devicecloud_account" "field-ops" {
  name = "Field operations"

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_push_destination" "pager" {
  name           = "On-call pager"
  enabled        = true
  endpoint       = { url = "https://hooks.example.com/alerts" }
  authentication = { secret_wo = var.pager_secret, secret_wo_version = 1 } # another version sends it again

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_rule" "wan-down" {
  # References imply the order; identifiers are filled in once the objects exist.
  associated_accounts = [devicecloud_account.field-ops.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected"] }
  http_destinations   = [devicecloud_alert_push_destination.pager.destination_config_id]

  lifecycle {
    prevent_destroy = true
  }
}
