"""Containers of draws and related data: an ``xarray.DataTree`` with ArviZ's groups, on disk as NetCDF."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

# Groups whose variables have the axes chain and draw first.
_SAMPLED = (
    "posterior",
    "posterior_predictive",
    "predictions",
    "prior",
    "prior_predictive",
    "log_likelihood",
    "sample_stats",
)


def build_container(
    groups: Mapping[str, Mapping[str, npt.NDArray[Any]]],
    *,
    dims: Mapping[str, tuple[str, ...]],
    coords: Mapping[str, Any],
    attrs: Mapping[str, str | int | float] | None = None,
    texts: Mapping[str, Mapping[str, str]] | None = None,
) -> Any:
    """Build a container that ArviZ reads.

    Parameters
    ----------
    groups : mapping of str to mapping of str to ndarray
        Variables by ArviZ's group. Those of ``posterior``, ``prior``, ``sample_stats``, ``log_likelihood``
        and the predictive groups have shape (chain, draw, ...), those of the other groups the shape of the
        data.
    dims : mapping of str to tuple of str
        Names of the axes of variables (after chain and draw), in any group.
    coords : mapping of str to sequence
        Values along the axes.
    attrs : mapping, optional
        Attributes of the container.
    texts : mapping of str to mapping of str to str, optional
        Attributes of variables, in any group.

    Returns
    -------
    xarray.DataTree
        Without time stamps, so that the same inputs give the same bytes.
    """
    import arviz_base
    import xarray as xr

    tree = {}
    for name, variables in groups.items():
        used = {dim for variable in variables for dim in dims.get(variable, ())}
        dataset = arviz_base.dict_to_dataset(
            {variable: np.asarray(values) for variable, values in variables.items()},
            coords={dim: list(values) for dim, values in coords.items() if dim in used},
            dims={variable: list(dims[variable]) for variable in variables if variable in dims},
            sample_dims=["chain", "draw"] if name in _SAMPLED else [],
        )
        dataset.attrs = {}
        for variable in set(variables) & set(texts or {}):
            dataset[variable].attrs = dict((texts or {})[variable])
        tree[name] = dataset
    container = xr.DataTree.from_dict(tree)
    container.attrs = dict(attrs or {})
    return container


def container_bytes(container: Any) -> bytes:
    """The container as a NetCDF file with compressed integers.

    ``xarray.open_datatree`` reads it, and ``arviz.from_netcdf`` up to ArviZ 0.23.
    """
    encoding = {
        f"/{name}": {
            str(variable): {"zlib": True, "complevel": 4}
            for variable, values in group.to_dataset().data_vars.items()
            if values.dtype.kind in "iu" and values.ndim
        }
        for name, group in container.children.items()
    }
    return bytes(container.to_netcdf(None, engine="h5netcdf", encoding=encoding))


def container_of_bytes(data: bytes) -> Any:
    """Container in the bytes of a NetCDF file; OSError or ValueError for other bytes."""
    import h5py
    import xarray as xr

    try:  # h5netcdf would print a second error when closing a damaged file
        with h5py.File(io.BytesIO(data)) as file:
            file.visititems(lambda *_: None)
    except (KeyError, RuntimeError) as error:
        raise ValueError(str(error)) from None
    with xr.open_datatree(io.BytesIO(data), engine="h5netcdf") as opened:
        return opened.load()


def variable_name(text: object) -> str:
    """Name for ArviZ's plots, ``tree.posterior.<name>`` and files: ``P_rel_2_10`` for P(rel=2)@10."""
    return re.sub(r"[^A-Za-z0-9]+", "_", str(text)).strip("_")
