# One configuration for every environment: terraform apply -var-file prod.tfvars, in a workspace of its own.
terraform {
  required_providers {
    devicecloud = {
      source = "trueup/devicecloud"
    }
  }
}

provider "devicecloud" {}

variable "pager_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "stage" {
  type    = string
  default = "test"
}

variable "hooks" {
  type    = string
  default = "https://hooks.test.example.com"
}

variable "sites" {
  type    = set(string)
  default = ["depot-7"]
}

resource "devicecloud_account" "field-ops" {
  name = "Field operations (${var.stage})"

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_account" "site" {
  for_each = var.sites
  name     = "${each.key} (${var.stage})"
  account  = devicecloud_account.field-ops.id

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_push_destination" "pager" {
  name           = "On-call pager (${var.stage})"
  enabled        = true
  endpoint       = { url = "${var.hooks}/pager" }
  authentication = { secret_wo = var.pager_secret, secret_wo_version = 1 }

  lifecycle {
    create_before_destroy = true
  }
}

resource "devicecloud_alert_rule" "wan-down" {
  associated_accounts = [devicecloud_account.field-ops.id]
  filter_criteria     = { alert_type__in = ["ethernet_wan_disconnected", "modem_wan_disconnected"] }
  http_destinations   = [devicecloud_alert_push_destination.pager.destination_config_id]
}
