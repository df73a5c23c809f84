import type { HostLists } from '@tintype/crds/kinds/capture-policy'
import { toSnakeCase } from '@tintype/crds/text/words'

// What the capture policy of an API key refuses.

/** A host that is not in a list of the policy. */
export interface Refusal {
  /** Id of the API key. */
  keyId: string
  field: keyof HostLists
  host: string
}

/** The message of a capture that fails because of a refusal. */
export const describeRefusal = ({ keyId, field, host }: Refusal): string =>
  `the capture policy of ${keyId} does not allow ${host}. Add it to ${toSnakeCase(field)}, or use another key.`

const FIELDS = ['allowedHosts', 'allowedRequestHosts'] as const
const REFUSED: Readonly<Record<Refusal['field'], string>> = { allowedHosts: 'pages', allowedRequestHosts: 'requests' }
/** Characters of the hosts in a warning. */
const MAX_HOSTS_LENGTH = 120

/** A warning for each list that has refused something. */
export const describeRefusals = (refusals: readonly Refusal[]): string[] =>
  FIELDS.flatMap((field) => {
    const [first, ...others] = refusals.filter((refusal) => refusal.field === field)
    if (!first) return []
    const hosts = [first.host]
    for (const { host } of others) if (hosts.join(', ').length + host.length < MAX_HOSTS_LENGTH) hosts.push(host)
    const left = others.length + 1 - hosts.length
    const more = left === 0 ? '' : ` and ${left} more`
    return `the capture policy of ${first.keyId} refused ${REFUSED[field]} of ${hosts.join(', ')}${more}. Add them to ${toSnakeCase(field)} if they are needed`
  })
