import { privateContradictions } from '@tintype/crds/options/contradictions'
import { PrivateOptions } from '@tintype/crds/options/private'
import { describeIssue, type Issue, toPath } from '@tintype/crds/schema/issue-messages'
import { findReservedName, parseJson } from '@tintype/crds/text/json'
import { type SecretStore, toText } from '../secrets/ensure-secret.ts'
import { OptionsError } from './options-error.ts'

/** Only Secrets of this type are read. Otherwise a Screenshot could make the operator disclose other Secrets to a page. */
export const PRIVATE_OPTIONS_TYPE = 'tintype.dev/private-options'

const KEY = 'options.json'
const MAX_PROBLEMS = 5

/**
 * Reads the private options of a Secret, with camel-case names.
 * @throws OptionsError
 */
export async function readPrivateSecret(name: string, secrets: Pick<SecretStore, 'find'>): Promise<PrivateOptions> {
  const secret = await secrets.find(name)
  // Both cases have the same message, so that users cannot find out which other Secrets exist.
  if (secret?.type !== PRIVATE_OPTIONS_TYPE) throw new OptionsError(`no Secret ${name} of type ${PRIVATE_OPTIONS_TYPE} exists`)
  const options = parse(toText(secret)[KEY])
  const conflict = privateContradictions.find(({ holds }) => holds(options))
  if (conflict) throw new OptionsError(`${KEY} of the Secret ${name}: ${conflict.message}`)
  return options

  function parse(text = ''): PrivateOptions {
    const parsed = parseJson(text)
    const reserved = findReservedName(parsed)
    if (reserved) throw new OptionsError(`${KEY} of the Secret ${name}: ${reserved.join('.')} is a reserved name. Remove the field`)
    const read = PrivateOptions.safeParse(parsed)
    if (read.success) return read.data
    throw new OptionsError(`${KEY} of the Secret ${name}: ${read.error.issues.slice(0, MAX_PROBLEMS).map(describe).join('. ')}`)

    function describe(issue: Issue): string {
      // Names of headers and of entries are as secret as values. The message about a name does not show it.
      const isSecret = /^(headers|localStorage)$/.test(String(issue.path[0])) && issue.code !== 'invalid_key'
      const path = isSecret ? issue.path.slice(0, 1) : issue.path
      return describeIssue({ ...issue, path }, path.length === 0 ? 'the text' : toPath(path), { schema: PrivateOptions, body: undefined })
    }
  }
}
