import type { Part } from './part.ts'
import { throughput } from './parts/throughput.ts'

/** All parts, in the order in which they run. */
export const parts: readonly Part[] = [throughput]
