/* SPDX-License-Identifier: MIT
 *
 * <pkrun/plugin.h>: the contract, for variants outside pkrun's tree.
 */
#include "core/plugin.h"
