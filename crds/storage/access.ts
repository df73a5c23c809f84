import { readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { isRefused } from './port.ts'

const POLL_MILLISECONDS = 500
/** A setup takes seconds. A program with an invalid key continues after this time. */
const PATIENCE_MILLISECONDS = 120_000

/**
 * Resolves when the store accepts the access key. During an upgrade with new keys, the store's setup runs at the same time as the new pods. Does not
 * wait for an unreachable store, because the programs can do much without it.
 */
export async function waitForAccess(
  check: () => Promise<unknown>,
  { signal, patienceMilliseconds = PATIENCE_MILLISECONDS }: { signal?: AbortSignal; patienceMilliseconds?: number } = {},
): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds
  while (performance.now() < deadline && (await isAccessRefused(check))) await sleep(POLL_MILLISECONDS, undefined, signal ? { signal } : {})
}

const isAccessRefused = (check: () => Promise<unknown>): Promise<boolean> => check().then(() => false, isRefused)

// Keys and certificate authorities of the store that change while a program runs. Both are in mounted files, which the kubelet replaces about a minute
// after the Secret or the ConfigMap has changed.

const CHECK_MILLISECONDS = 10_000

/** Credentials that are replaced in place. Requests read them each time. */
interface Keys {
  accessKey: string
  secretKey: string
}

interface ChangeLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

interface FollowOptions {
  /** Directory with the files `access-key` and `secret-key`, and `signer-access-key` and `signer-secret-key`. Absent: the keys do not change. */
  directory?: string | undefined
  /** Keys of requests, in all objects that have them. */
  keys: readonly Keys[]
  /** Keys that only sign URLs, if they are others. */
  signer?: Keys | undefined
  /** PEM file with the authority of the store's certificate (NODE_EXTRA_CA_CERTS). */
  caFile?: string | undefined
  log: ChangeLog
}

/** The kubelet replaces all files of a volume at once, by a link to another directory. */
function targetOf(directory: string): string {
  try {
    return realpathSync(path.join(directory, '..data'))
  } catch {
    return directory
  }
}

function readKeys(directory: string, prefix: string): Keys | undefined {
  const read = (name: string): string => readFileSync(path.join(directory, `${prefix}${name}`), 'utf8').trim()
  const [accessKey, secretKey] = [read('access-key'), read('secret-key')]
  return accessKey === '' || secretKey === '' ? undefined : { accessKey, secretKey }
}

/** Copies keys into the objects that have them. Returns true if they have changed. */
function replaceKeys(found: Keys | undefined, objects: readonly Keys[]): boolean {
  const changed = objects.filter((keys) => found && (keys.accessKey !== found.accessKey || keys.secretKey !== found.secretKey))
  for (const keys of changed) Object.assign(keys, found)
  return changed.length > 0
}

/** Checks once. `lastCa` is the text of the authority that is in use. Returns the one that is in use now. */
export function applyChanges({ directory, keys, signer, caFile, log }: FollowOptions, lastCa: string | undefined): string | undefined {
  if (directory !== undefined) {
    const target = targetOf(directory)
    const isNew = replaceKeys(readKeys(target, ''), keys)
    const isNewSigner = signer !== undefined && replaceKeys(readKeys(target, 'signer-'), [signer])
    if (isNew || isNewSigner) log.info({}, 'took new keys of the store')
  }
  if (caFile === undefined) return undefined
  const ca = readFileSync(caFile, 'utf8')
  if (lastCa !== undefined && ca !== lastCa) {
    // The certificates of the system stay.
    setDefaultCACertificates([...getCACertificates('bundled'), ca])
    log.info({}, 'took new certificate authorities of the store')
  }
  return ca
}

/** Uses changed keys and authorities without a restart. */
export function followStoreChanges(options: FollowOptions): void {
  const { directory, caFile, log } = options
  if (directory === undefined && caFile === undefined) return
  let ca: string | undefined
  const check = (): void => {
    try {
      ca = applyChanges(options, ca)
    } catch (error) {
      // What was read last stays in use.
      log.warn({ err: error }, 'keys or certificate authorities of the store cannot be read')
    }
  }
  check()
  setInterval(check, CHECK_MILLISECONDS).unref()
}
