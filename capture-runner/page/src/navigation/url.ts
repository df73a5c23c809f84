import type { PageFunctions } from '../../../src/page/functions.ts'

export const readUrl: PageFunctions['readUrl'] = () => location.href
