import { PrivateOptions, privateContradictions } from '@tintype/crds/options/private'
import { findReservedName } from '@tintype/crds/text/reserved-names'
import type { SecretStore } from '../secrets/ensure-secret.ts'
import { toText } from '../secrets/ensure-secret.ts'
import { OptionsError } from './options-error.ts'

/** Only Secrets of this type are read: a Screenshot must not make the operator disclose any other to a page. */
export const PRIVATE_OPTIONS_TYPE = 'tintype.dev/private-options'

const KEY = 'options.json'

/**
 * The private options that a Secret holds, by their camel-case names.
 * @throws OptionsError
 */
export async function readPrivateSecret(name: string, namespace: string, secrets: Pick<SecretStore, 'find'>): Promise<PrivateOptions> {
  const secret = await secrets.find(name, { namespace })
  // One message for both: nobody learns which other Secrets there are.
  if (secret?.type !== PRIVATE_OPTIONS_TYPE) throw new OptionsError(`there is no Secret ${name} of type ${PRIVATE_OPTIONS_TYPE}`)
  const options = parse(toText(secret)[KEY])
  const conflict = privateContradictions.find(({ holds }) => holds(options))
  if (conflict) throw new OptionsError(`${KEY} of the Secret ${name}: ${conflict.message}`)
  return options

  function parse(text = ''): PrivateOptions {
    const given = fromJson(text)
    const reserved = findReservedName(given)
    if (reserved) throw new OptionsError(`${KEY} of the Secret ${name}: ${reserved.join('.')} is a reserved name: leave the field out`)
    const read = PrivateOptions.safeParse(given)
    if (read.success) return read.data
    // Names of options, nothing of what they hold: not even the names of headers.
    const places = [...new Set(read.error.issues.map(({ path: [option] }) => String(option ?? 'the whole')))]
    throw new OptionsError(`${KEY} of the Secret ${name} does not hold private options; wrong: ${places.join(', ')}`)
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
