import { classifyUrl, type EgressRules } from '@tintype/crds/addresses/address-rules'
import { WebhookSpec } from '@tintype/crds/kinds/webhook'
import type { ProblemCode } from '@tintype/crds/schema/errors'
import type { Problem } from '../../common/errors.ts'

export const MAX_WEBHOOK_URL_LENGTH = 2048

/** Checks the URL of an endpoint without DNS. The operator resolves the host at each post, so a host that does not resolve yet is allowed. */
export function findWebhookUrlProblems(text: string, rules: EgressRules, path = 'url'): Problem[] {
  const problem = (code: ProblemCode, message: string): Problem[] => [{ path, code, message: `${path} ${message}` }]
  if (text.length > MAX_WEBHOOK_URL_LENGTH) return problem('too_big', `must be at most ${MAX_WEBHOOK_URL_LENGTH} characters long`)
  if (!text.startsWith('https://')) return problem('https_required', 'must start with https://')
  if (!URL.canParse(text)) return problem('invalid_url', 'is not a URL')
  const { username, password } = new URL(text)
  if (username !== '' || password !== '') return problem('credentials_in_url', 'must not contain a user name or password')
  if (text.includes('#')) return problem('fragment', 'must not have a fragment (#…)')
  if (!WebhookSpec.shape.url.safeParse(text).success) return problem('invalid_url', 'is not a URL that can be posted to')
  const decision = classifyUrl(text, rules)
  return decision.allowed ? [] : problem('url_not_allowed', `must be a public URL: ${decision.reason}`)
}
