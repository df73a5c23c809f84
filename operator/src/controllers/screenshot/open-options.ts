import { type OpeningKeys, SealError, type SealedFor, unseal } from '@tintype/crds/crypto/sealed'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { CaptureOptions } from '@tintype/crds/options/catalog'
import { contradictions, privateContradictions } from '@tintype/crds/options/contradictions'
import { findForbidden, type OptionPolicy, toForbiddenMessage } from '@tintype/crds/options/policy'
import { PrivateOptions, SealedOptions } from '@tintype/crds/options/private'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { accountOf } from '@tintype/crds/records/record'
import { optionsKey, scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import type { Whole } from '@tintype/crds/schema/custom-resource'
import { describeIssue, type Issue, toPath } from '@tintype/crds/schema/issue-messages'
import { readStored } from '@tintype/crds/storage/stored-objects'
import { findReservedName, parseJson } from '@tintype/crds/text/json'
import type { TermDeps } from '../../runtime/deps.ts'
import { type SecretStore, toText } from '../../secrets/ensure-secret.ts'
import type { Storage } from '../../storage/storage.ts'
import { OptionsError } from './decide.ts'

// rbac: /secrets get

// The spec of a Screenshot is not trusted: a user who may create Screenshots could copy the sealed text of another one, or name an object
// of another account. So each text opens only for the subject for which it was sealed, and only object keys derived from the Screenshot's
// own account and name are read. For a run of a schedule, the subject is the schedule; users cannot set `scheduleRef`.

/** Sources of private and large options, and the option policy of the cluster administrator. The policy is checked here because Screenshots created with kubectl did not pass a gateway. */
export interface OptionsSources {
  keys: Pick<TermDeps['keys'], 'openingKeys'>
  clients: { secrets: Pick<SecretStore, 'find'> }
  storage: Pick<Storage, 'readText'>
  report: ReportIgnored
  config: Pick<TermDeps['config'], 'optionPolicy'>
}

/** Five parts in base64url; the second, a wrapped key, is empty. */
const COMPACT_JWE = /^[\w-]{1,4096}\.\.[\w-]{1,64}\.[\w-]+\.[\w-]{1,64}$/

/** All options of a capture; absent when there are none. */
export interface OpenedOptions {
  options?: CaptureOptions | undefined
  privateOptions?: PrivateOptions | undefined
}

/**
 * Collects the options of a Screenshot from all their sources.
 * @throws OptionsError when they can never be used; RetryableError when the store or the API server is unavailable
 */
export async function openOptions(shot: Whole<Screenshot>, sources: OptionsSources): Promise<OpenedOptions> {
  const { options, privateOptionsSecretRef } = shot.spec
  assertReadable(options)
  const fromSecret = privateOptionsSecretRef && (await readPrivateSecret(privateOptionsSecretRef.name, sources.clients.secrets))
  const large = await openLarge(shot, sources)
  const sealed = await openSealed(shot, sources.keys.openingKeys)
  const opened = {
    options: merge(options, large.options, sealed.options),
    privateOptions: merge<PrivateOptions>(fromSecret, large.privateOptions, sealed.privateOptions),
  }
  assertAllowed(opened, sources.config.optionPolicy)
  if (fromSecret ?? shot.spec.optionsObject ?? shot.spec.sealedOptions) assertCompatible(opened)
  return opened
}

/** The gateway and the API server cannot compare hidden options with the others. */
function assertCompatible({ options, privateOptions = {} }: OpenedOptions): void {
  const all = { ...options, ...privateOptions }
  const conflict = [...contradictions, ...privateContradictions].find(({ holds }) => holds(all))
  if (conflict) throw new OptionsError(conflict.message)
}

/** The API server does not validate the names in maps and some values. Every runner would reject the order, so reject it here. */
function assertReadable(options: CaptureOptions | undefined): void {
  assertNames(options, 'spec.options')
  const { error } = CaptureOptions.optional().safeParse(options)
  if (!error) return
  const places = [...new Set(error.issues.map(({ path }) => ['spec.options', ...path].join('.')))]
  throw new OptionsError(`${places.join(', ')}: invalid. See docs/options.md`)
}

/** Schemas drop reserved names silently. */
function assertNames(value: unknown, place: string): void {
  const reserved = findReservedName(value)
  if (reserved) throw new OptionsError(`${[place, ...reserved].join('.')} is a reserved name. Remove the field`)
}

function assertAllowed({ options, privateOptions }: OpenedOptions, policy: OptionPolicy): void {
  const names = findForbidden({ ...options, ...privateOptions }, policy)
  if (names.length > 0) throw new OptionsError(toForbiddenMessage(names), 'OPTION_NOT_ALLOWED')
}

/** Merges the parts; later parts override earlier ones. Undefined when all are undefined. */
function merge<T extends object>(...parts: (T | undefined)[]): T | undefined {
  return parts.every((part) => part === undefined) ? undefined : Object.assign({}, ...parts)
}

async function openSealed({ metadata, spec }: Screenshot, keys: OpeningKeys): Promise<SealedOptions> {
  if (spec.sealedOptions === undefined) return {}
  const subject = spec.scheduleRef?.name ?? metadata.name
  return open(spec.sealedOptions, { purpose: 'options', subject, account: accountOf({ spec }), url: spec.url }, keys)
}

async function openLarge(shot: Screenshot, { storage, keys, report }: OptionsSources): Promise<SealedOptions> {
  const { optionsObject, batchId, scheduleRef, url } = shot.spec
  if (optionsObject === undefined) return {}
  const account = accountOf(shot)
  const subject = scheduleRef
    ? [scheduleRef.name].find((name) => scheduleOptionsKey(account, name) === optionsObject)
    : [shot.metadata.name, batchId].find((name) => name !== undefined && optionsKey(account, name) === optionsObject)
  if (subject === undefined) throw new OptionsError('spec.optionsObject names an object of another Screenshot')
  const text = await readStored('options', optionsObject, { storage, report })
  const isSealed = text !== undefined && COMPACT_JWE.test(text)
  if (text !== undefined && !isSealed) report({ kind: 'options', reason: 'content', key: optionsObject })
  if (!isSealed) throw new OptionsError('the object with the options does not exist')
  const sealedFor = { purpose: 'large-options', subject, account } as const
  // Without a URL: no private options, several URLs of a batch, or an object of an earlier version.
  return open(text, [{ ...sealedFor, url }, sealedFor], keys.openingKeys).catch((error: unknown) => {
    if (error instanceof OptionsError) report({ kind: 'options', reason: 'content', key: optionsObject })
    throw error
  })
}

async function open(text: string, sealedFor: SealedFor | readonly SealedFor[], keys: OpeningKeys): Promise<SealedOptions> {
  const opened = await unseal(text, sealedFor, keys).catch((error: unknown) => {
    if (error instanceof SealError) throw new OptionsError(`the sealed options cannot be opened: ${error.message}`)
    throw error
  })
  const parsed = parseJson(opened)
  assertNames(parsed, 'the sealed options')
  const { data } = SealedOptions.safeParse(parsed)
  if (!data) throw new OptionsError('this version cannot read the sealed options')
  return data
}

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
