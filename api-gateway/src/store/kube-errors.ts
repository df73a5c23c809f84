import { isForbidden, isInvalid, isTransient, isUnauthorized, type KubeError } from '@tintype/crds/client/kube-error'
import { toSnakeCase } from '@tintype/crds/text/words'
import { ApiError, invalid, type Problem, unavailable } from '../common/errors.ts'

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
