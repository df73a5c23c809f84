import { findMatches, findRoots } from '../shared/tree.ts'

/** Makes lazy images and frames load at once. @param isDeep also those in shadow roots and frames, whose search takes longer */
export function loadEagerly(isDeep = true): void {
  const roots = isDeep ? findRoots() : [document]
  for (const lazy of findMatches('img[loading=lazy], iframe[loading=lazy]', roots) as HTMLImageElement[]) lazy.loading = 'eager'
}
