import { withDefaults } from '@tintype/crds/options/catalog'
import { type CacheOptions, cacheDefaults } from '@tintype/crds/options/output/cache'
import type { FileFormat } from '@tintype/crds/options/output/formats'
import { ApiError, invalid, type Problem } from '../../common/errors.ts'
import type { RequestedOptions } from '../../creation/build.ts'
import { parseCreateBody } from '../screenshots/create-body.ts'
import type { UrlRules } from '../screenshots/options/options-body.ts'
import type { LinkQuery } from './link-query.ts'

/** The page of a link, and how to capture it. */
export interface PictureRequest extends Pick<RequestedOptions, 'options' | 'record'> {
  url: string
  /** Format of the picture or video. */
  format: FileFormat
  /** The cache is always on. */
  cache: CacheOptions & { cacheTtl: number }
}

/** In links, options are parameters of their own. */
const toParameter = (path: string): string => path.replace(/^options\./, '')

const isList = (details: ApiError['details']): details is readonly Problem[] => Array.isArray(details)

/** Names parameters as the link has them: `delay` instead of `options.delay`. */
function renameProblems(error: unknown): unknown {
  if (!(error instanceof ApiError) || !isList(error.details)) return error
  const details = error.details.map((problem) => ({
    ...problem,
    path: toParameter(problem.path),
    message: problem.message.replaceAll('options.', ''),
  }))
  return error.code === 'VALIDATION_ERROR'
    ? invalid(details)
    : new ApiError(error.code, error.message.replaceAll('options.', ''), { details })
}

/**
 * Checks URL and options of a link, as POST /screenshots checks its body.
 * @throws ApiError VALIDATION_ERROR, URL_NOT_ALLOWED, OPTION_NOT_ALLOWED
 */
export function readPictureRequest(
  { url, options: given, on_error: onError }: LinkQuery,
  { egress, webhookRules }: UrlRules,
): PictureRequest {
  if (onError !== undefined && onError !== 'image') {
    throw invalid([{ path: 'on_error', code: 'invalid_value', message: 'on_error must be image' }])
  }
  const {
    url: page,
    options,
    privateOptions,
    cache,
    record,
  } = parse({
    ...(url === undefined ? {} : { url }),
    options: { ...given, cache: true },
  })
  if (privateOptions !== undefined) {
    const message = 'the url of a link must not contain a user name or password. Use POST /screenshots.'
    throw new ApiError('OPTION_NOT_ALLOWED', message, { details: [{ path: 'url', code: 'not_allowed', message }] })
  }
  const { cacheTtl = cacheDefaults.cacheTtl, cacheKey } = cache ?? {}
  const { format } = withDefaults(options)
  return { url: page, options, format, record, cache: { cache: true, cacheTtl, ...(cacheKey === undefined ? {} : { cacheKey }) } }

  function parse(body: object) {
    try {
      return parseCreateBody(body, egress, false, webhookRules, 'any')
    } catch (error) {
      throw renameProblems(error)
    }
  }
}
