import type { EgressRules } from '@tintype/crds/addresses/address-rules'
import type { TermDeps } from '../../runtime/deps.ts'

/** What the parts of the webhook controller use during one term. */
export interface WebhookContext extends TermDeps {
  rules: EgressRules
  /** A circuit is open while posts to the webhook with that key are paused. */
  circuitBreakers: { isOpen: (webhookKey: string) => boolean }
}
