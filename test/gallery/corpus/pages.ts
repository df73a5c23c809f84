import { animations } from './animations.ts'
import { apps } from './apps.ts'
import { charts } from './charts.ts'
import { maps } from './maps.ts'
import type { Page } from './page.ts'
import { packagePages } from './templates.ts'

/** Every page of the corpus. */
export const pages: readonly Page[] = [...packagePages, ...charts, ...maps, ...apps, ...animations]
