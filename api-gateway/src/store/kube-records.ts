import { toCached } from '@tintype/crds/client/cached-form'
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTransient,
  isUnauthorized,
  type KubeError,
} from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Reflector } from '@tintype/crds/client/reflector'
import { mergePatch, type NewObject, Resource } from '@tintype/crds/client/resource'
import type { Identified } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted, isWhole, type Whole } from '@tintype/crds/schema/custom-resource'
import { toSnakeCase } from '@tintype/crds/text/words'
import { ApiError, invalid, notFound, type Problem, unavailable } from '../common/errors.ts'
import type { ObjectPatch, RecordStore } from './ports.ts'
import { readInTurn } from './turns.ts'

// rbac: tintype.dev/apikeys create,patch,delete
// rbac: tintype.dev/webhooks get,list,watch,create,patch,delete
// rbac: tintype.dev/screenshotschedules get,list,watch,create,patch,delete

/** A client is waiting, so an early 503 is better than a late success. */
const WRITE_MILLISECONDS = 5_000
const READ_MILLISECONDS = 3_000
const ID = 'id'
const ACCOUNT = 'account'

/** A kind that clients manage. Each object belongs to an account. */
type Managed = KubeObject & { metadata: Identified; spec: { accountName?: string | undefined } }

interface KubeRecordsOptions<T extends Managed> {
  http: KubeHttp
  reflector: Reflector<T>
  /** Name for messages, such as `webhook`. */
  what: string
  idOf: (metadata: Identified) => string
  /** True for object names that are derived from an id. */
  isIdName: (name: string) => boolean
}

/** Webhooks, keys or schedules. Reads use the informer cache, and changes use the latest state in the API server. Deleted ones count as missing. */
export class KubeRecords<T extends Managed> implements RecordStore<T> {
  readonly reflector: Reflector<T>
  readonly #client: Resource<T>
  readonly #options: KubeRecordsOptions<T>

  constructor(options: KubeRecordsOptions<T>) {
    const { http, reflector, idOf } = options
    this.#options = options
    this.reflector = reflector
    this.#client = new Resource(http, reflector.resource)
    // Ids start with a timestamp, so the natural order is oldest first.
    reflector.lister
      .addIndex(ID, (object) => (isBeingDeleted(object) ? undefined : idOf(object.metadata)))
      .addIndex(ACCOUNT, (object) => (isBeingDeleted(object) ? undefined : accountOf(object)), {
        orderBy: ({ metadata }) => idOf(metadata),
      })
  }

  ofAccount(account: string): readonly T[] {
    return this.reflector.lister.byIndex(ACCOUNT, account)
  }

  async latestOfAccount(account: string): Promise<readonly T[]> {
    const found: T[] = []
    try {
      for await (const { items } of this.#client.pages({ timeoutMilliseconds: READ_MILLISECONDS }))
        found.push(...items.filter((object) => accountOf(object) === account && !isBeingDeleted(object)).map(toCached))
    } catch (error) {
      throwApiError(error)
    }
    return found
  }

  async find(id: string): Promise<Whole<T> | undefined> {
    const cached = this.#cached(id)
    if (!cached) return this.#fetch(id, toObjectName(id))
    return isWhole(cached) ? cached : readInTurn(accountOf(cached), () => this.#fetch(id, cached.metadata.name))
  }

  async findLatest(id: string): Promise<Whole<T> | undefined> {
    return this.#fetch(id, this.#cached(id)?.metadata.name ?? toObjectName(id))
  }

  async create(object: NewObject<T> & { metadata: { name: string } }): Promise<T> {
    const { name } = object.metadata
    try {
      // The name is unique, so a retry after an unknown outcome either creates the object or finds it.
      return this.#seen(await this.#client.create(object, { timeoutMilliseconds: WRITE_MILLISECONDS, repeat: 'always' }))
    } catch (error) {
      if (!isAlreadyExists(error)) throw toApiError(error)
      const found = this.#seen(await this.#client.get(name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(throwApiError))
      if (!isBeingDeleted(found)) return found
      const { what } = this.#options
      throw new ApiError('CONFLICT', `the ${what} ${name} was deleted, but finalizers keep it: ask an administrator to remove them`)
    }
  }

  async patch({ metadata: { name, uid, resourceVersion } }: T, patch: ObjectPatch): Promise<T> {
    const body = mergePatch({ ...patch }, { resourceVersion, uid })
    return this.#seen(await this.#client.patch(name, body, { timeoutMilliseconds: WRITE_MILLISECONDS }).catch(this.#throwChangeError))
  }

  async delete(object: T): Promise<void> {
    const { name, uid, resourceVersion } = object.metadata
    await this.#client.delete(name, { uid, resourceVersion, timeoutMilliseconds: WRITE_MILLISECONDS }).catch(this.#throwChangeError)
    this.reflector.noteDeleted(object)
  }

  #cached(id: string): T | undefined {
    return this.reflector.lister.byIndex(ID, id)[0]
  }

  /** Reads from the API server, because another replica may have just created or changed the object. */
  async #fetch(id: string, name: string): Promise<Whole<T> | undefined> {
    if (!id.includes('_') || (name === toObjectName(id) && !this.#options.isIdName(name))) return undefined
    const found = await this.#client.find(name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(throwApiError)
    return found && isWhole(found) && this.#options.idOf(found.metadata) === id && !isBeingDeleted(this.#seen(found)) ? found : undefined
  }

  #seen<Seen extends T>(object: Seen): Seen {
    this.reflector.noteWritten(object)
    return object
  }

  readonly #throwChangeError = (error: unknown): never => {
    const { what } = this.#options
    if (isNotFound(error)) throw notFound(what)
    if (isConflict(error))
      throw new ApiError('CONFLICT', `another request has just changed the ${what}: read it again and retry`, { cause: error })
    throw toApiError(error)
  }
}

interface Cause {
  field?: string
  message?: string
}

/** `spec.options.imageQuality` → `options.image_quality`. */
const toRequestPath = (field: string): string => toSnakeCase(field.replace(/^spec\.?/, ''))

/** The CRD schema rejected what the gateway accepted. The causes name fields of the spec, which come from the client. */
function toProblems({ details }: KubeError): Problem[] {
  const causes = (details as { causes?: Cause[] } | undefined)?.causes ?? []
  const problems = causes
    .filter(({ field }) => field?.startsWith('spec'))
    .map(({ field = '' }): Problem => ({ path: toRequestPath(field), code: 'refused', message: `${toRequestPath(field)} is rejected` }))
  return problems.length > 0 ? problems : [{ path: '', code: 'refused', message: 'the request is rejected' }]
}

/** Translates errors of the Kubernetes client. Other errors stay unchanged. */
export function toApiError(error: unknown): unknown {
  if (error instanceof ApiError) return error
  // An API server that has just started may reject valid credentials until its caches are synced.
  if (isTransient(error) || isForbidden(error) || isUnauthorized(error))
    return unavailable('the service is temporarily unavailable: retry in a few seconds', error)
  if (isInvalid(error)) return Object.assign(invalid(toProblems(error)), { cause: error })
  return error
}

/** For `catch`. */
export const throwApiError = (error: unknown): never => {
  throw toApiError(error)
}
