import { findForbidden, type OptionPolicy, toForbiddenMessage } from '@tintype/crds/capture-options/policy'
import { toSnakeCase } from '@tintype/crds/snake-case'
import { ApiError, type Problem } from '../errors.ts'
import type { CreateRequest } from './create-body.ts'

/** Lets only those options pass that whoever runs the service allows. @throws ApiError OPTION_NOT_ALLOWED that names the others */
export function assertOptionsAllowed(
  { options, privateOptions }: Pick<CreateRequest, 'options' | 'privateOptions'>,
  policy: OptionPolicy,
): void {
  const names = findForbidden({ ...options, ...privateOptions }, policy)
  if (names.length === 0) return
  const details = names.map(
    (name): Problem => ({
      path: `options.${toSnakeCase(name)}`,
      code: 'not_allowed',
      message: `${toSnakeCase(name)} is switched off`,
    }),
  )
  throw new ApiError('OPTION_NOT_ALLOWED', toForbiddenMessage(names), { details })
}
