import type { CaptureOptions } from '../options/catalog.ts'
import { isMoving } from '../options/output/formats.ts'
import { DEFAULT_POOL, DEFAULT_VIDEO_POOL } from './names.ts'

/**
 * The RunnerPool that captures a Screenshot: the one that its spec names, else the pool of videos for a video, else that of the account's plan,
 * else the default one.
 * @param planPool pool of the account's plan; only the operator knows it
 */
export function poolOf(
  spec: { poolName?: string | undefined; options?: CaptureOptions | undefined },
  planPool: string = DEFAULT_POOL,
): string {
  return spec.poolName ?? (isMoving(spec.options?.format) ? DEFAULT_VIDEO_POOL : planPool)
}
